import { newPlant } from '@plant-store/domain';

/** A plant with this id, for tests that look at nothing else. */
export const plant = (id: bigint, name = `plant ${id}`) => newPlant({ id, name });
