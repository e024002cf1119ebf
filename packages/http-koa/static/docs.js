const dark = matchMedia('(prefers-color-scheme: dark)');
const followScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followScheme);
followScheme();

globalThis.SwaggerUIBundle({
  domNode: document.getElementById('try-it'),
  url: '/openapi.json',
  docExpansion: 'full',
  tryItOutEnabled: true,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  // Otherwise the page would ask a server on the internet whether the description is valid.
  validatorUrl: null,
});
