import { expect } from 'chai';
import { errorsPage, tryItPage } from '../../src/docs/docs-pages.js';
import { failureGuide } from '../../src/docs/failure-guide.js';

describe('The table of errors', () => {
  const page = errorsPage();

  it('has a row for each number', () => {
    const rows = [...page.matchAll(/<tr id="(\d+)"/g)].map(([, number]) => number);
    expect(rows).to.deep.equal(Object.keys(failureGuide));
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
