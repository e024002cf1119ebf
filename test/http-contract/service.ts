import { type Service, serve, sha256 } from '@plant-store/service-process';
import { TOKEN } from './requests.js';

/** Starts the service as a process of its own. */
export function startService(settings: Record<string, string> = {}): Promise<Service> {
  return serve({ ACCESS_TOKEN_SHA256: sha256(TOKEN), ...settings });
}

/** A service that runs during the tests of a `describe`. */
export interface UsedService {
  readonly port: number;
  readonly settings: Record<string, string>;
}

/** Starts one service before the tests of the surrounding `describe` and stops it after them. */
export function useService(settings: Record<string, string> = {}): UsedService {
  let service: Service | undefined;
  before(async () => {
    service = await startService(settings);
  });
  after(async () => {
    const code = await service?.stop();
    if (code !== 0) throw new Error(`the service did not stop with 0 but with ${code}`);
  });
  return {
    settings,
    get port() {
      if (service === undefined) throw new Error('the service runs during tests only');
      return service.port;
    },
  };
}
