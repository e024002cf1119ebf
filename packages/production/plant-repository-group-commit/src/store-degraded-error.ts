import { StoreUnavailableError } from '@plant-store/domain';

/** The database accepts plants, but some of them get no outcome in time. Only `ready` rejects with this error; `add` waits. */
export class StoreDegradedError extends StoreUnavailableError {
  override readonly name = 'StoreDegradedError';
}
