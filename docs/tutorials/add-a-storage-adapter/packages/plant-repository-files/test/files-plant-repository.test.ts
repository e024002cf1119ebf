import { rejects } from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type NewPlantFields,
  newPlant,
  PlantIdTakenError,
  StorageUnavailableError,
} from '@plant-store/domain';
import { describePlantRepository } from '@plant-store/plant-repository-contract';
import { FilesPlantRepository } from '@plant-store/plant-repository-files';
import { expect } from 'chai';
import { PlantFile } from '../src/plant-file.js';

describe('FilesPlantRepository', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'plant-repository-files-'));
  });

  afterEach(() => rm(folder, { recursive: true, force: true }));

  const monstera = newPlant({ id: 7n, name: 'Monstera' });

  async function stored(id: bigint): Promise<NewPlantFields | undefined> {
    if (!(await readdir(folder)).includes(`${id}.json`)) return undefined;
    return { id, ...JSON.parse(await readFile(join(folder, `${id}.json`), 'utf8')) };
  }

  const open = async () => ({
    repository: new FilesPlantRepository(folder),
    stored,
    reopen: async () => new FilesPlantRepository(folder),
  });

  describePlantRepository('FilesPlantRepository', open, { neverStalls: true });

  it('leaves no draft behind', async () => {
    const repository = new FilesPlantRepository(folder);
    await repository.add(monstera, 10_000);
    await rejects(repository.add(monstera, 10_000), PlantIdTakenError);
    expect(await readdir(folder)).to.deep.equal(['7.json']);
  });

  it('is unavailable without its folder', async () => {
    const repository = new FilesPlantRepository(folder);
    await rm(folder, { recursive: true });
    await rejects(repository.add(monstera, 10_000), StorageUnavailableError);
    await rejects(repository.ready(), StorageUnavailableError);
    await writeFile(folder, 'not a folder');
    await rejects(repository.ready(), StorageUnavailableError);
  });

  it('does not store later what it has told to be unavailable', async () => {
    const file = new PlantFile(folder, monstera);
    const storing = file.store();
    file.giveUp();
    await rejects(storing, StorageUnavailableError);
    expect(await readdir(folder)).to.deep.equal([]);
  });
});
