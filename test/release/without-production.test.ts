import { freePort } from '@plant-store/test-servers/loopback';
import { needsMongod } from '@plant-store/test-servers/mongod';
import { postPlant } from '@plant-store/test-servers/service-process';
import { expect } from 'chai';
import { ProjectCopy } from '../documents/support/project-copy.js';
import { Terminal } from '../documents/support/terminal.js';
import { root } from '../support/root.js';

const LEFT_OUT =
  /[\\/](?:\.git|dist|benchmarks|deploy|docs|examples|release|packages[\\/]production)$/;
const COMPILE = 'npx tsc -b packages/{essential,testing}/*/test';
const TESTS = 'packages/*/*/dist/test/**/!(*.slow).test.js';

describe('A copy of the project without packages/production', function () {
  this.timeout(600_000);
  let terminal: Terminal;
  let copy: ProjectCopy;

  before(() => {
    copy = new ProjectCopy(root, LEFT_OUT);
    terminal = new Terminal(copy.folder);
  });

  after(() => terminal.stop());

  it('compiles', async () => {
    expect(await terminal.run(COMPILE)).to.equal('');
  });

  it('passes its tests, with those of the MongoDB adapter on a real server', async function () {
    await needsMongod.call(this);
    this.timeout(600_000);
    const output = await terminal.run(
      `npx mocha --no-config --parallel --timeout 120000 '${TESTS}'`,
    );
    expect(output).to.match(/MongoPlantRepository as a PlantRepository[\s\S]*\d+ passing/);
    expect(output).not.to.match(/\d+ failing/);
  });

  it('serves plants over HTTP', async () => {
    const PORT = `${await freePort()}`;
    await terminal.start('npm run start:essential', { PORT }).printed(/listens/);
    const created = await postPlant(`http://127.0.0.1:${PORT}`, '{"id":1,"name":"Monstera"}', {
      Authorization: 'Bearer demo',
    });
    expect([created.status, await created.json()]).to.deep.equal([200, { name: 'Monstera' }]);
  });
});
