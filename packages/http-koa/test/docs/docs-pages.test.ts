import { expect } from 'chai';
import { errorsPage } from '../../src/docs/docs-pages.js';
import { type FailureGuide, failureGuide } from '../../src/docs/failure-guide.js';
import { type Failure, failures } from '../../src/frame/failures.js';

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
    const decoded = found.map((texts) =>
      texts.map((text) => text.replaceAll('&lt;', '<').replaceAll('&gt;', '>')),
    );
    expect(decoded).to.deep.equal(expected);
    expect(page).to.include(`<tbody>${rows.join('\n')}</tbody>`);
  });

  it('has code in its own element, and escapes HTML', () => {
    expect(page).to.include(
      '<tr id="4010"><th scope="row">4010</th><td data-label="status">401</td><td data-label="what it means">The request has no <code>Authorization: Bearer</code> field.</td><td data-label="what to do">Send <code>Authorization: Bearer &lt;ACCESS_TOKEN&gt;</code>.</td><td data-label="does a retry help?">Yes, with a token</td></tr>',
    );
  });
});
