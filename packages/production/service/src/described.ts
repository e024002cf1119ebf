import type { DescriptionOptions } from '@plant-store/http-operations';
import { build } from './build.js';
import { urlOf } from './commands/own-process.js';
import type { ServiceValues } from './configuration/service-settings.js';

type Addresses = Pick<ServiceValues, 'BASE_PATH' | 'PUBLIC_URL' | 'HOST' | 'PORT'>;

/** Returns what the OpenAPI description says about a service with these settings. */
export function described({ BASE_PATH, PUBLIC_URL, HOST, PORT }: Addresses): DescriptionOptions {
  const localUrl = PORT === 0 ? undefined : urlOf(HOST, PORT);
  return { basePath: BASE_PATH, publicUrl: PUBLIC_URL, localUrl, build };
}
