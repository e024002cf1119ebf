import { expect } from 'chai';
import { startExport } from '../../plant-files.js';

describe('plant-store export', () => {
  for (const [what, args, env, problem] of [
    ['with an id that is not one', ['--after', '1e3'], {}, /^export: --after: expected an id from/],
    ['into a file that exists', ['/etc/hostname'], {}, /^export: \/etc\/hostname exists/],
    [
      'into a folder that does not exist',
      ['/gone/plants'],
      {},
      /^export: expected a file .*ENOENT/,
    ],
    ['without a storage', [], { STORAGE: '' }, /STORAGE/],
    [
      'with a token that is refused',
      [],
      { ACCESS_TOKEN: 'a-secret' },
      /ACCESS_TOKEN: expected a t/,
    ],
  ] as const) {
    it(`ends with 2, and writes nothing, ${what}`, async () => {
      const it = startExport(args, { STORAGE: 'memory', ...env });
      expect(await it.ended).to.equal(2);
      expect(it.out).to.equal('');
      expect(it.err.replace('plant-store: ', '')).to.match(problem);
    });
  }
});
