"""What a release is made of, made from one commit: `python -m release --help`. No part of the package."""
