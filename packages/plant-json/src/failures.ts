/** What a failure says: the number is for programs and stable across releases, the message for a person. */
export interface CreateFailure {
  readonly error: number;
  /** Holds no value from the request. */
  readonly message: string;
}

/**
 * Every way in which a create can fail once a client is authenticated. The key is the `code` of the error
 * that causes it. Source: docs/specification.md, "Error".
 *
 * @param what What holds the plant, for the messages: "the body".
 */
export function createFailures(what: string) {
  return {
    TOO_LARGE: { error: 4003, message: `${what} is larger than the limit` },
    INVALID_JSON: { error: 4004, message: `${what} is not valid JSON` },
    INVALID_NEW_PLANT: { error: 4005, message: `${what} is not a NewPlant` },
    PLANT_ID_TAKEN: { error: 4006, message: 'id is taken: a plant with this id exists' },
    INTERNAL: { error: 5000, message: 'internal error' },
    STORAGE_UNAVAILABLE: {
      error: 5030,
      message: 'the storage cannot be reached: nothing was stored',
    },
    OUTCOME_UNKNOWN: {
      error: 5031,
      message: 'the outcome is unknown: the plant may or may not have been stored',
    },
  } as const satisfies Record<string, CreateFailure>;
}
