"""Certificates on request: who may ask, approve and sign (`admission`), what is issued (`issuing`), the signer that
issues what was approved and clears away what is old (`signer`)."""
