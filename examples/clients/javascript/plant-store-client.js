/**
 * A client for Plant Store: one file, no dependencies. Runs on Node.js 20 and later, Deno, Bun, and in browsers.
 *
 * @example
 * ```js
 * const plants = new PlantStoreClient('https://plants.example.com', token);
 * await plants.create({ id: newPlantId(), name: 'Monstera deliciosa', tag: 'tropical' });
 * ```
 *
 * @module
 */

/**
 * @typedef {object} NewPlant
 * @property {bigint} id From -2n ** 63n to 2n ** 63n - 1n. It identifies one plant permanently: see {@link newPlantId}.
 * @property {string} name May be empty.
 * @property {string | undefined} [tag]
 */

/**
 * @typedef {object} ClientOptions
 * @property {number} [retryForMs] How long `create` keeps starting attempts, in milliseconds. 60,000 by default.
 * @property {number} [timeoutMs] How long one attempt may take, in milliseconds. 20,000 by default, because the service
 * responds within 15 seconds.
 */

/**
 * @typedef {object} Details
 * @property {number | undefined} [error]
 * @property {number | undefined} [status]
 * @property {string | undefined} [requestId]
 * @property {number | undefined} [retryAfterMs]
 * @property {unknown} [cause]
 */

const MAX_RETRY_AFTER_S = 60;

/** Errors of Node.js and Bun from before a request is sent. Browsers and Deno do not distinguish them. */
const NOT_CONNECTED = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'];

const SEE_CONSOLE =
  "in a browser, see its console: the service's CORS_ALLOWED_ORIGINS may not list this page's origin";

/** A create failed. The subclass says what to do; the message is for people. */
export class PlantStoreError extends Error {
  /**
   * @param {string} message
   * @param {Details} [details]
   */
  constructor(message, { error, status, requestId, retryAfterMs = 0, cause } = {}) {
    super(message, { cause });
    this.name = new.target.name;
    /** The service's error number, such as 4005. `undefined` if the service did not respond. */
    this.error = error;
    /** The HTTP status. `undefined` without a response. */
    this.status = status;
    /** Identifies the request in the service's log: quote it to the operator. `undefined` without a response. */
    this.requestId = requestId;
    /** How long the service asks you to wait before you try again, in milliseconds. */
    this.retryAfterMs = retryAfterMs;
  }
}

/** Not stored: the plant violates a rule, which the message names. */
export class InvalidPlantError extends PlantStoreError {}

/** Not stored: another plant has this id. */
export class PlantIdTakenError extends PlantStoreError {}

/** Not stored: get a new token. */
export class UnauthorizedError extends PlantStoreError {}

/** Not stored: the token lacks the permission to create plants. */
export class ForbiddenError extends PlantStoreError {}

/** Not stored, and repeating the request does not help: check the address. */
export class RefusedError extends PlantStoreError {}

/** Not stored: try again later. */
export class UnavailableError extends PlantStoreError {}

/**
 * The plant may be stored now, or may be stored later. Keep the plant, and pass it to `createAgain` later. If `error` is
 * 5000, the service has a bug: report it to the operator.
 */
export class OutcomeUnknownError extends PlantStoreError {}

/** Returns a random id. With a million plants, the chance that any two collide is 3 in 100 million. */
export function newPlantId() {
  return /** @type {bigint} */ (crypto.getRandomValues(new BigInt64Array(1))[0]);
}

/** Creates plants. Use one instance for the whole program: its creates share connections. */
export class PlantStoreClient {
  #url;
  #token;
  #retryForMs;
  #timeoutMs;

  /**
   * @param {string} address The service's address, including its base path, such as `https://plants.example.com`.
   * @param {string | (() => string | Promise<string>)} token The bearer token, or a function that returns a valid one:
   * it is called for every attempt.
   * @param {ClientOptions} [options]
   * @throws {TypeError} If the address is not an HTTP URL.
   */
  constructor(address, token, { retryForMs = 60_000, timeoutMs = 20_000 } = {}) {
    this.#url = new URL(`${address.replace(/\/+$/, '')}/plants`);
    if (!/^https?:$/.test(this.#url.protocol)) throw new TypeError('address: must be an HTTP URL');
    this.#token = token;
    this.#retryForMs = retryForMs;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Resolves when the plant is stored. Repeats the request while that is safe and useful: a plant is never stored twice.
   *
   * @param {NewPlant} plant
   * @returns {Promise<void>}
   * @throws {PlantStoreError} One of its subclasses.
   * @throws {TypeError} If the id is not a `bigint`, the only type that keeps all 64 bits.
   */
  create(plant) {
    return this.#create(plant, false);
  }

  /**
   * Creates a plant whose earlier create may have stored it: after {@link OutcomeUnknownError}, or after a crash. If the
   * id is taken, this plant counts as stored. That is true if no other client uses the id, as with random ids.
   *
   * @param {NewPlant} plant The same plant.
   * @returns {Promise<void>}
   * @throws {PlantStoreError} As `create` does.
   */
  createAgain(plant) {
    return this.#create(plant, true);
  }

  /**
   * @param {NewPlant} plant
   * @param {boolean} mayBeStored
   */
  async #create({ id, name, tag }, mayBeStored) {
    if (typeof id !== 'bigint') throw new TypeError('id: must be a bigint, such as 7n');
    // A template writes every digit of a bigint; JSON.stringify accepts none.
    const body = JSON.stringify({ id: 0, name, tag }).replace('0', `${id}`);
    const end = performance.now() + this.#retryForMs;
    for (let attempt = 1; ; attempt += 1) {
      const failure = await this.#attempt(body, name);
      if (failure === undefined) return;
      if (failure instanceof PlantIdTakenError && mayBeStored) return;
      mayBeStored ||= failure instanceof OutcomeUnknownError;
      const pauseMs = failure.retryAfterMs + Math.random() * 100 * 2 ** attempt;
      if (!isTemporary(failure) || performance.now() + pauseMs > end) {
        throw mayBeStored ? asUnknown(failure) : failure;
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  /**
   * Sends the request once. Resolves with `undefined` if the plant is stored.
   *
   * @param {string} body
   * @param {string} name
   * @returns {Promise<PlantStoreError | undefined>}
   */
  async #attempt(body, name) {
    const token = await this.#bearerToken();
    if (token instanceof PlantStoreError) return token;
    try {
      const response = await fetch(this.#url, {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        body,
        redirect: 'manual', // A redirect can lead to a login page, whose status is 200.
        signal: AbortSignal.timeout(this.#timeoutMs),
      });
      return failureOf(response, fieldsOf(await response.text()), name);
    } catch (cause) {
      return withoutResponse(cause);
    }
  }

  /** @returns {Promise<string | UnauthorizedError>} */
  async #bearerToken() {
    try {
      const token = typeof this.#token === 'string' ? this.#token : await this.#token();
      // RFC 6750 section 2.1. For any other, an error of fetch would repeat the token.
      if (/^[\w.~+/-]+=*$/.test(token)) return token;
      return new UnauthorizedError('the token has characters that no bearer token has');
    } catch (cause) {
      return new UnauthorizedError('no token was returned', { cause });
    }
  }
}

/**
 * Returns `undefined` if the plant is stored: only the service knows its name.
 *
 * @param {Response} response
 * @param {Record<string, unknown>} fields
 * @param {string} name
 */
function failureOf({ status, headers }, fields, name) {
  if (status === 200 && fields.name === name) return undefined;
  // Only the service's failures have a number. Another comes from a proxy.
  const error = typeof fields.error === 'number' ? fields.error : undefined;
  // Browsers hide the status of a redirect.
  const unexpected = `unexpected response with status ${status || '3xx'}`;
  const message = error === undefined ? unexpected : fields.message;
  const requestId = headers.get('X-Request-Id') ?? undefined;
  // A proxy may send a date, which is not a number.
  const seconds = Number(headers.get('Retry-After')) || 0;
  const retryAfterMs = Math.min(Math.max(seconds, 0), MAX_RETRY_AFTER_S) * 1_000;
  const Failure = classOf(status, error);
  return new Failure(`${message}`, { error, status, requestId, retryAfterMs });
}

/**
 * @param {number} status
 * @param {number | undefined} error
 */
function classOf(status, error) {
  if (error === 4006) return PlantIdTakenError;
  if (error === 4001 || error === 4003 || error === 4004 || error === 4005)
    return InvalidPlantError;
  if (error === 4080 || error === 5030 || error === 5032 || status === 429) return UnavailableError;
  if (status === 401) return UnauthorizedError;
  if (status === 403) return ForbiddenError;
  // A success that is not the service's: a proxy may have made it out of anything.
  if (status >= 500 || (status >= 200 && status < 300)) return OutcomeUnknownError;
  return RefusedError;
}

/** @param {any} cause */
function withoutResponse(cause) {
  const { code, message } = cause.cause ?? cause;
  const Failure = NOT_CONNECTED.includes(code) ? UnavailableError : OutcomeUnknownError;
  // Browsers tell a page nothing more.
  const hint = code === undefined ? `; ${SEE_CONSOLE}` : '';
  return new Failure(`no response: ${message || code}${hint}`, { cause });
}

/** @param {PlantStoreError} failure */
function isTemporary(failure) {
  if (failure instanceof OutcomeUnknownError) return failure.error !== 5000;
  return failure instanceof UnavailableError;
}

/** @param {PlantStoreError} failure */
function asUnknown(failure) {
  if (failure instanceof OutcomeUnknownError) return failure;
  const { message, error, status, requestId, retryAfterMs } = failure;
  const details = { error, status, requestId, retryAfterMs, cause: failure };
  return new OutcomeUnknownError(
    `an earlier attempt may have stored the plant; now: ${message}`,
    details,
  );
}

/**
 * Returns the fields of a JSON object; none for any other text.
 *
 * @param {string} text
 * @returns {Record<string, unknown>}
 */
function fieldsOf(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}
