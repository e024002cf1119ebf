import { expect } from 'chai';
import { errorsPage, tryItPage } from '../../src/docs/docs-pages.js';
import { type FailureGuide, failureGuide } from '../../src/docs/failure-guide.js';
import { type Failure, failures } from '../../src/request/failures.js';

/** The texts of all elements of this name, without their markup. */
function textsOf(page: string, element: string): string[] {
  const found = page.matchAll(new RegExp(`<${element}(?: [^>]*)?>(.*?)</${element}>`, 'gs'));
  return [...found].map(([, text = '']) => text.replace(/<[^>]*>/g, '').trim());
}

describe('The table of errors', () => {
  const page = errorsPage();

  it('has a row for each number, with its status and its guide', () => {
    const statuses = new Map(Object.values<Failure>(failures).map((it) => [it.error, it.status]));
    const rows = page.match(/<tr id=.*<\/tr>/g) ?? [];
    const expected = Object.entries<FailureGuide>(failureGuide).map(
      ([number, { meaning, remedy, retry = 'No' }]) => [
        ...[number, `${statuses.get(Number(number))}`],
        ...[meaning, remedy, retry].map((text) => text.replaceAll('`', '')),
      ],
    );
    const found = rows.map((row) => [...textsOf(row, 'th'), ...textsOf(row, 'td')]);
    expect(found.map((texts) => texts.map((it) => it.replaceAll('&lt;', '<')))).to.deep.equal(
      expected,
    );
    expect(page).to.include(`<tbody>${rows.join('\n')}</tbody>`);
  });

  it('names its columns, has code in its own element, and escapes HTML', () => {
    expect(page).to.include(
      '<thead><tr><th scope="col">error</th><th scope="col">status</th><th scope="col">what',
    );
    expect(page).to.include(
      '<tr id="4010"><th scope="row">4010</th><td data-label="status">401</td><td data-label="what it means">The request has no <code>Authorization: Bearer</code> field.</td><td data-label="what to do">Send <code>Authorization: Bearer &lt;ACCESS_TOKEN></code>.</td><td data-label="does a retry help?">Yes, with a token</td></tr>',
    );
  });
});

describe('The docs page', () => {
  it('has its title, and loads the script that shows the operations', () => {
    expect(errorsPage()).to.include('<title>Errors · Plant Store</title>');
    const page = /<title>Plant Store<\/title>.*<div id="try-it">.*<script src="\/docs\/docs.js"/s;
    expect(tryItPage()).to.match(page);
  });
});
