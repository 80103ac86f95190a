// Addresses are relative, so that the page works behind whatever path a proxy puts before it.
globalThis.SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
  // Its colours are too faint, and it takes its time.
  syntaxHighlight: { activated: false },
});
