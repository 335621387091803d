"""Carries out changes of flows: asked for in files, by a person, or seen upstream."""
