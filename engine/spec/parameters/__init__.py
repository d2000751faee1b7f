"""Values of parameters as texts: the query string, the styles of OpenAPI, their types."""
