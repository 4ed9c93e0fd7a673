"""Adapters to clusters: connecting, raw API calls, watches, log streams, submission."""
