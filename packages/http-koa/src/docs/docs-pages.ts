import { type Failure, failures } from '../request/failures.js';
import { type FailureGuide, failureGuide } from './failure-guide.js';

/** Returns the HTML of the docs page, on which a visitor can try the operations. */
export function tryItPage(): string {
  return page(
    'Plant Store',
    `<ol class="steps">
      <li>
        <label for="access-token">Access token</label>
        <input id="access-token" type="password" autocomplete="off" spellcheck="false" aria-describedby="access-token-note">
        <span id="access-token-note">From the operator of the service. The page does not store it.</span>
      </li>
      <li>Edit the request, then select <b>Execute</b>.</li>
      <li>A <b>200</b> means success. An error has a number: see <a href="/docs/errors">what it means</a>.</li>
    </ol>
    <div id="try-it"><noscript>This page needs JavaScript. The <a href="/openapi.json">interface description</a> does not.</noscript></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/docs.js" type="module"></script>`,
  );
}

const COLUMNS = ['error', 'status', 'what it means', 'what to do', 'does a retry help?'];

/** Returns the HTML of the page with the table of all errors. */
export function errorsPage(): string {
  const statuses = new Map(Object.values<Failure>(failures).map((f) => [f.error, f.status]));
  const rows = Object.entries<FailureGuide>(failureGuide).map(
    ([error, { meaning, remedy, retry = 'No' }]) => {
      const texts = [`${statuses.get(Number(error))}`, ...[meaning, remedy, retry].map(html)];
      const cells = texts.map((text, at) => `<td data-label="${COLUMNS[at + 1]}">${text}</td>`);
      return `<tr id="${error}"><th scope="row">${error}</th>${cells.join('')}</tr>`;
    },
  );
  return page(
    'Errors · Plant Store',
    `<h2>Errors</h2>
    <p>Every response with a 4xx or 5xx status has the body <code>{"error": number, "message": text}</code>. A number keeps its meaning in every release. A message is for people, and may change.</p>
    <table class="errors">
      <thead><tr>${COLUMNS.map((title) => `<th scope="col">${title}</th>`).join('')}</tr></thead>
      <tbody>${rows.join('\n')}</tbody>
    </table>`,
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
        <p>A small store of plants.</p>
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

/** The texts are those of `failureGuide`, which have no `&`. `>` needs no escape. */
function html(markdown: string): string {
  return markdown.replaceAll('<', '&lt;').replace(/`([^`]*)`/g, '<code>$1</code>');
}
