import { creating, groups } from '../support/cases.js';
import { freshId, MARK, NUMBER_MARK, plantText } from '../support/requests.js';
import { useSharedService } from '../support/service.js';

const arrays = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
const utf16 = (text: string) => Buffer.from(text, 'utf16le');

/** A text of each kind: the tests of `plant-json` have all rules, and compare random texts with `JSON.parse`. */
const NOT_JSON: Readonly<Record<string, string | Uint8Array>> = {
  'white space': ' ',
  'text after the value': `${plantText()}}`,
  'a form': 'a=1&b=2',
  'a byte order mark': `\ufeff${plantText()}`,
  'UTF-16': utf16(plantText()),
  'a byte that is not UTF-8 in an ignored value': Buffer.from(`{"id":1,"x":"\xff"}`, 'latin1'),
  'a name twice in an ignored value': plantText('1', '"more":[{"a":1,"\\u0061":1}]'),
  'a lone surrogate in an ignored name': plantText('1', '"more":[{"\\uDC00":1}]'),
  '33 levels with the plant': plantText('1', `"more":${arrays(32)}`),
  '16,384 levels': '['.repeat(16_384),
};

describe('JSON', () => {
  const group = groups(useSharedService());

  const { bytes } = creating('', { body: '' });
  const unframed = Buffer.from(bytes).toString('latin1').replace('content-length: 0\r\n', '');
  const headers = { 'content-type': 'application/json; charset=utf-16le' };
  const inUtf16 = { body: utf16(plantText()), headers };
  group(
    'A body',
    creating('chunks without bytes are a 4001', { chunks: [] }, 4001),
    { ...creating('no body is a 4001', {}, 4001), bytes: Buffer.from(unframed) },
    creating('UTF-16 is a 4004, also with that charset', inUtf16, 4004),
    ...Object.entries(NOT_JSON).map(([what, body]) =>
      creating(`${what} is a 4004`, { body }, 4004),
    ),
    ...['null', NUMBER_MARK, `"${MARK}"`, `[${plantText()}]`].map((body) =>
      creating(`${body} is a 4005`, { body }, 4005),
    ),
    creating(
      'a body that ends early is a 4004 that names the rule',
      { body: '{' },
      { error: 4004, says: 'the body is not valid JSON: a name in double quotes is missing' },
    ),
    creating(
      'a text in several chunks, cut within a character, is accepted',
      { chunks: [...Buffer.from(`{"id":${freshId()},"name":"ä🌵"}`)].map((it) => Buffer.of(it)) },
      { plant: { name: 'ä🌵' } },
    ),
  );
});
