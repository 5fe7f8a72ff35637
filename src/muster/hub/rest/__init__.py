"""The hub over HTTP: Kubernetes' REST conventions on one side, `hub.api.Api` on the other. Start with `application`."""
