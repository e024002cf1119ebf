/** The configuration is valid, but the service or an import cannot be started with it now. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
