import { rejects } from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mocha } from '@plant-store/contract-suite/mocha';
import { newPlant, PlantIdTakenError, StoreUnavailableError } from '@plant-store/domain';
import { describePlantRepository } from '@plant-store/plant-repository-contract';
import { FilesPlantRepository } from '@plant-store/plant-repository-files';
import { expect } from 'chai';
import { localDisk } from '../src/disk.js';
import { PlantFile } from '../src/plant-file.js';
import { FaultyDisk } from './faulty-disk.js';

describe('FilesPlantRepository', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'plant-repository-files-'));
  });

  afterEach(() => rm(folder, { recursive: true }));

  const monstera = newPlant({ id: 7n, name: 'Monstera' });

  async function open() {
    const disk = new FaultyDisk(folder);
    const reopen = async () => new FilesPlantRepository(folder, disk);
    return { ...disk.hooks, repository: await reopen(), reopen };
  }

  describePlantRepository(mocha, 'FilesPlantRepository on a disk that fails', open, {
    without: ['connections', 'transactions', 'setting for durability'],
  });

  it("leaves only the plant's file on a real disk", async () => {
    const repository = new FilesPlantRepository(folder);
    await repository.ready();
    await repository.add(monstera, 10_000);
    await rejects(repository.add(monstera, 10_000), PlantIdTakenError);
    expect(await readdir(folder)).to.deep.equal(['7.json']);
  });

  it('is not ready when its folder is missing or a file', async () => {
    const file = join(folder, 'file');
    await writeFile(file, 'not a folder');
    for (const place of [file, join(folder, 'nothing')]) {
      await rejects(new FilesPlantRepository(place).ready(), StoreUnavailableError);
    }
  });

  it('never stores a plant that it has reported as unavailable', async () => {
    const file = new PlantFile(localDisk, folder, monstera);
    const storing = file.store();
    file.giveUp();
    await rejects(storing, StoreUnavailableError);
    expect(await readdir(folder)).to.deep.equal([]);
  });
});
