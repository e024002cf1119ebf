import { rejects } from 'node:assert/strict';
import { StorageUnavailableError, TokenVerifierUnavailableError } from '@plant-store/domain';
import { ACCESS_TOKEN_SHA256, TOKEN } from '@plant-store/service-process';
import { close } from '../../src/commands/serve.js';
import { readConfiguration } from '../../src/configuration/configuration.js';
import { createContainer, ids } from '../../src/container.js';
import { openLogger } from '../../src/telemetry/logger.js';

const SILENT = { LOG_FORMAT: 'json', LOG_LEVEL: 'silent' } as const;

describe('Closing the parts of the service', () => {
  it('closes the token verifier and the storage, also when no server listens', async () => {
    const configuration = await readConfiguration({ ACCESS_TOKEN_SHA256 }, false);
    const container = createContainer(configuration, () => openLogger(SILENT, process.stdout));
    const tokenVerifier = await container.getAsync(ids.tokenVerifier);
    const plantRepository = await container.getAsync(ids.plantRepository);
    await container.getAsync(ids.server);
    await tokenVerifier.verify(TOKEN);
    await close(container);
    await rejects(tokenVerifier.verify(TOKEN), TokenVerifierUnavailableError);
    await rejects(plantRepository.ready(), StorageUnavailableError);
  });
});
