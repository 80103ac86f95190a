// URLs are relative, so that the page works behind any path that a proxy adds.
globalThis.SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
  // Syntax highlighting is slow, and its colours are too faint.
  syntaxHighlight: { activated: false },
});
