"""Endpoints that speak the OpenAI protocol, called directly."""
