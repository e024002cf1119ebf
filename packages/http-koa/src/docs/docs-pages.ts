import { type Failure, failures } from '../frame/failures.js';
import { failureGuide } from './failure-guide.js';

/** The page on which a person creates a plant. */
export function tryItPage(): string {
  return page(
    'Plant Store',
    `<ol class="steps">
      <li>Select <b>Authorize</b> and enter your access token. It stays in this page.</li>
      <li>Edit the plant, then select <b>Execute</b>.</li>
      <li>A <b>200</b> means that the plant is stored. Anything else holds a number: <a href="/docs/errors">what it means</a>.</li>
    </ol>
    <div id="try-it"><noscript>This page needs JavaScript. The <a href="/openapi.json">interface description</a> does not.</noscript></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/docs.js"></script>`,
  );
}

/** The table of all errors. */
export function errorsPage(): string {
  const statuses = new Map(Object.values<Failure>(failures).map((f) => [f.error, f.status]));
  const rows = Object.entries(failureGuide).map(
    ([error, { meaning, remedy, retry }]) =>
      `<tr id="${error}"><th scope="row">${error}</th><td>${statuses.get(Number(error))}</td><td>${html(meaning)}</td><td>${html(remedy)}</td><td>${html(retry)}</td></tr>`,
  );
  return page(
    'Errors · Plant Store',
    `<h2>Errors</h2>
    <p>Every answer that is not a 200 says <code>{"error": number, "message": text}</code>. The numbers are stable across releases; the messages are for people, and may change.</p>
    <div class="scroll"><table>
      <thead><tr><th scope="col">error</th><th scope="col">status</th><th scope="col">what it means</th><th scope="col">what to do</th><th scope="col">does a retry help?</th></tr></thead>
      <tbody>${rows.join('\n')}</tbody>
    </table></div>`,
  );
}

function page(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${title}</title>
    <link rel="icon" href="/docs/plant.svg" type="image/svg+xml">
    <link rel="stylesheet" href="/docs/swagger-ui.css">
    <link rel="stylesheet" href="/docs/docs.css">
  </head>
  <body>
    <header>
      <img src="/docs/plant.svg" alt="" width="56" height="56">
      <div>
        <h1><a href="/docs">Plant Store</a></h1>
        <p>A small store of plants. Its one operation lets an authenticated client create a plant.</p>
      </div>
      <nav>
        <a href="/docs">Try it</a>
        <a href="/docs/errors">Errors</a>
        <a href="/openapi.yaml">OpenAPI YAML</a>
        <a href="/openapi.json">JSON</a>
      </nav>
    </header>
    <main>
    ${content}
    </main>
  </body>
</html>
`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

function html(markdown: string): string {
  return markdown
    .replace(/[&<>]/g, (character) => ENTITIES[character] ?? character)
    .replace(/`([^`]*)`/g, '<code>$1</code>');
}
