"""Every other provider, called through litellm."""
