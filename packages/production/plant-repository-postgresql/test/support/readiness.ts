import { inspect } from 'node:util';
import { errorOf, until } from '@plant-store/contract-suite';
import type { PlantRepository } from '@plant-store/domain';

/** Resolves as soon as the repository is ready: on a busy machine, one check may take longer than it has. */
export function untilReady(repository: PlantRepository): Promise<void> {
  const isReady = async () => (await errorOf(repository.ready())) === undefined;
  return until(isReady, () => 'the repository was not ready');
}

/** Resolves as soon as the repository is not ready for this reason. */
export function untilNotReady(repository: PlantRepository, why: RegExp): Promise<void> {
  const isNotReady = async () => why.test(inspect(await errorOf(repository.ready())));
  return until(isNotReady, () => `ready did not reject: ${why}`);
}
