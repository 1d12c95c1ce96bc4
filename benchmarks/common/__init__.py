"""Helpers of several benchmarks: servers, measurement, tables, command lines."""
