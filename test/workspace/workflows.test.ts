import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { read, root } from '../support/root.js';

const FOLDER = '.github/workflows';
const PINNED = /^[\w.-]+\/[\w./-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/;

const scripts = Object.keys(JSON.parse(read('package.json')).scripts);

for (const name of readdirSync(join(root, FOLDER))) {
  describe(`The workflow ${name}`, () => {
    const text = read(`${FOLDER}/${name}`);

    it('pins actions to the hash of a release, and uses local workflows', () => {
      const uses = [...text.matchAll(/^\s*(?:- )?uses: (.+)$/gm)].map(([, it = '']) => it);
      expect(uses).not.to.deep.equal([]);
      for (const it of uses) {
        if (it.startsWith('./')) expect(existsSync(join(root, it)), it).to.equal(true);
        else expect(it).to.match(PINNED);
      }
    });

    it('runs scripts and programs that exist', () => {
      const run = [...text.matchAll(/\bnpm run ([\w:]+)/g)].map(([, script]) => script);
      expect(scripts).to.include.members(run);
      const own = [...text.matchAll(/(?<![\w/])(\.ci\/\w+|packages\/[\w./-]+\.js)\b/g)];
      for (const [path] of own) expect(existsSync(join(root, path)), path).to.equal(true);
    });
  });
}
