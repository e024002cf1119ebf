/** The error number of a failure, for programs and stable across releases, and its message, for people. */
export interface CreateFailure {
  readonly error: number;
  /** The message, without values of the request. */
  readonly message: string;
}

/**
 * Returns the failures of a create, by the `code` of the error that causes each. Source: docs/specification.md, "Error".
 *
 * @param what What contains the plant, for the messages, such as "the body".
 */
export function failuresOfCreate(what: string) {
  return {
    TOO_LARGE: { error: 4003, message: `${what} is larger than the limit` },
    INVALID_JSON: { error: 4004, message: `${what} is not valid JSON` },
    INVALID_NEW_PLANT: { error: 4005, message: `${what} is not a NewPlant` },
    PLANT_ID_TAKEN: { error: 4006, message: 'a plant with this id already exists' },
    INTERNAL: { error: 5000, message: 'internal error' },
    STORE_UNAVAILABLE: {
      error: 5030,
      message: 'the database is unavailable: nothing was stored',
    },
    OUTCOME_UNKNOWN: {
      error: 5031,
      message: 'the outcome is unknown: the plant may or may not have been stored',
    },
  } as const satisfies Record<string, CreateFailure>;
}
