/** The configuration is sound, but the service or an import cannot be started with it here and now. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
