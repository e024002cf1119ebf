import { expect } from 'chai';
import { errorsPage, tryItPage } from '../../src/docs/docs-pages.js';
import { failureGuide } from '../../src/docs/failure-guide.js';
import { type Failure, failures } from '../../src/frame/failures.js';

/** The texts of all elements of this name, without their markup. */
function textsOf(page: string, element: string): string[] {
  const found = page.matchAll(new RegExp(`<${element}(?: [^>]*)?>(.*?)</${element}>`, 'gs'));
  return [...found].map(([, text = '']) => text.replace(/<[^>]*>/g, '').trim());
}

describe('A page of the docs', () => {
  it('has its title, and links to the others', () => {
    for (const [page, title] of [
      [tryItPage(), 'Plant Store'],
      [errorsPage(), 'Errors · Plant Store'],
    ] as const) {
      expect(page).to.match(/^<!doctype html>\n<html lang="en">/);
      expect(textsOf(page, 'title')).to.deep.equal([title]);
      expect(textsOf(page, 'h1')).to.deep.equal(['Plant Store']);
      expect(textsOf(page, 'nav')[0]?.split(/\s*\n\s*/)).to.deep.equal([
        ...['Try it', 'Errors', 'OpenAPI YAML', 'JSON'],
      ]);
    }
  });

  it('has three steps', () => {
    const page = tryItPage();
    expect(textsOf(page, 'li')).to.have.length(3);
    expect(page).to.include('<div id="try-it"><noscript>This page needs JavaScript.');
    expect(page).to.include('<script src="/docs/docs.js" type="module"></script>');
  });
});

describe('The table of errors', () => {
  const page = errorsPage();

  it('has a column for each part of the guide', () => {
    expect(page).to.include(
      '<thead><tr><th scope="col">error</th><th scope="col">status</th><th scope="col">what it means</th><th scope="col">what to do</th><th scope="col">does a retry help?</th></tr></thead>',
    );
  });

  it('has a row for each number, with its status and its guide', () => {
    const statuses = new Map(Object.values<Failure>(failures).map((it) => [it.error, it.status]));
    const rows = page.match(/<tr id=.*<\/tr>/g) ?? [];
    const expected = Object.entries(failureGuide).map(([number, { meaning, remedy, retry }]) => [
      ...[number, `${statuses.get(Number(number))}`],
      ...[meaning, remedy, retry].map((text) => text.replaceAll('`', '')),
    ]);
    const found = rows.map((row) => [...textsOf(row, 'th'), ...textsOf(row, 'td')]);
    const decoded = found.map((texts) =>
      texts.map((text) => text.replaceAll('&lt;', '<').replaceAll('&gt;', '>')),
    );
    expect(decoded).to.deep.equal(expected);
    expect(page).to.include(`<tbody>${rows.join('\n')}</tbody>`);
  });

  it('has code in its own element, and escapes HTML', () => {
    expect(page).to.include(
      '<tr id="4010"><th scope="row">4010</th><td data-label="status">401</td><td data-label="what it means">The request has no bearer token.</td><td data-label="what to do">Send <code>Authorization: Bearer &lt;ACCESS_TOKEN&gt;</code>.</td><td data-label="does a retry help?">Yes, with a token</td></tr>',
    );
  });
});
