import { inspect } from 'node:util';
import { until } from '@plant-store/contract-suite';
import type { PlantRepository } from '@plant-store/domain';

/** Resolves as soon as the repository is ready: on a busy machine, one check may take longer than it has. */
export function untilReady(repository: PlantRepository): Promise<void> {
  const isReady = () =>
    repository.ready().then(
      () => true,
      () => false,
    );
  return until(isReady, () => 'the repository was not ready');
}

/** Resolves as soon as the repository is not ready for this reason. */
export function untilNotReady(repository: PlantRepository, why: RegExp): Promise<void> {
  return until(
    async () => why.test(inspect(await repository.ready().catch((error: unknown) => error))),
    () => `ready did not reject: ${why}`,
  );
}
