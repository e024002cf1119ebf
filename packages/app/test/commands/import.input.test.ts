import { rejects } from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { openInput, sizeOf } from '../../src/commands/import.js';
import { UsageError } from '../../src/commands/own-process.js';
import { PlantFiles } from '../support/plant-files.js';

describe('The input of an import', () => {
  const plantFiles = new PlantFiles();

  after(() => plantFiles.remove());

  it('is a file, whose size is known', async () => {
    const input = await openInput(await plantFiles.write(['a line\n']));
    expect(sizeOf(input)).to.equal(7);
    expect(await text(input.stream)).to.equal('a line\n');
  });

  it('has no known size when it is not a regular file', async () => {
    const input = await openInput('/dev/null');
    expect(sizeOf(input)).to.equal(undefined);
    input.stream.destroy();
  });

  it('is standard input when no file is named', async () => {
    const { stream } = await openInput(undefined);
    expect(stream).to.equal(process.stdin);
  });

  it('cannot be a directory', async () => {
    await rejects(
      openInput(plantFiles.folder),
      new UsageError(`import: expected a file, found the directory ${plantFiles.folder}`),
    );
  });

  it('cannot be a file that does not exist', async () => {
    const path = plantFiles.newPath();
    await rejects(
      openInput(path),
      new UsageError(
        `import: expected a file that can be read (ENOENT: no such file or directory, open '${path}')`,
      ),
    );
  });
});
