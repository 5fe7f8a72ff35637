"""The embedded home: storage, API machinery, REST, authentication."""
