import { type DatabaseFinding, NoResponseError } from '@plant-store/plant-repository-group-commit';
import {
  isHandshake,
  messageOf,
  NOT_PERMITTED,
  type Topology,
  whyNotWritable,
} from '@plant-store/plant-repository-mongodb';
import {
  type Document,
  type MongoClient,
  MongoNetworkTimeoutError,
  MongoServerError,
  type ServerDescription,
} from 'mongodb';

/** What an error means, and the sentence that operators read: by default, the one that `messageOf` returns. */
type Translation = readonly [finding: DatabaseFinding, sentence?: string];

/** What each error means. Without a row, a server's reply to a command is `unknown`, anything else `unreachable`. */
// biome-ignore format: a table
const TRANSLATIONS = {
  // What a server replies to a command, by its error code. These codes prove that an insert has written nothing. Others do
  // not, because a router reports network errors as replies. Source: MongoDB's `error_codes.yml`.
  'reply 2': ['unusable'], // BadValue: a standalone without a journal, or a time series.
  'reply 13': ['unusable', NOT_PERMITTED], // Unauthorized.
  'reply 72': ['unusable'], // InvalidOptions: a time series.
  'reply 73': ['unusable'], // InvalidNamespace.
  'reply 166': ['unusable'], // CommandNotSupportedOnView: an administrator has replaced the collection.
  'reply 462': ['not now'], // IngressRequestRateLimitExceeded.
  'reply 8000': ['unusable'], // Atlas: a quota is exceeded, or a permission is missing. Source: its FAQ; not tried.
  'reply 13297': ['unusable'], // DatabaseDifferCase.
  'reply 4862100': ['unusable'], // A name that is too long for MongoDB 4.4.

  // What a server replies to the driver's login.
  'login 11': ['credentials refused'], // UserNotFound, even of a certificate.
  'login 18': ['credentials refused'],
  'login 334': ['credentials refused'], // MechanismUnavailable.
  'login 8000': ['credentials refused'], // Atlas; not tried.

  // What the driver reports, by the name of its error.
  MongoInvalidArgumentError: ['unusable'],
  MongoMissingDependencyError: ['unusable'],

  // What a check or a page finds.
  'no permission': ['unusable', NOT_PERMITTED],
  'no collection': ['unusable', 'the collection does not exist'],
  'other collection': ['unusable', 'the collection is not an ordinary one'],
  'case conflict': ['unusable', 'a database exists whose name differs only in case'],
  'no SRV record': ['unreachable', 'the SRV record was not resolved in time'],
  'slow writes': ['slow', 'writes are not acknowledged in time: they are blocked, or no majority is available'],
} as const satisfies Readonly<Record<string, Translation>>;

/** An error of the database that may be logged and shown: it contains neither credentials nor plant data. */
class MongoStoreError extends Error {
  override readonly name = 'MongoStoreError';
  readonly finding: DatabaseFinding;

  constructor(finding: DatabaseFinding, message: string) {
    super(message);
    this.finding = finding;
  }
}

const translationOf = (row: string): Translation | undefined =>
  (TRANSLATIONS as Record<string, Translation>)[row];

/** Returns the error of a row with a sentence, to which `why` is added. */
export function storeError(row: keyof typeof TRANSLATIONS, why = ''): MongoStoreError {
  const [finding, sentence = row]: Translation = TRANSLATIONS[row];
  return new MongoStoreError(finding, why ? `${sentence}: ${why}` : sentence);
}

/**
 * Returns the error of a server's reply to an insert, without the server's text, which quotes plants. The text of Atlas
 * does not, and is the only thing that says why.
 */
export function insertError({ code, codeName, errmsg }: Document): MongoStoreError {
  const [finding, sentence] = translationOf(`reply ${code}`) ?? ['unknown'];
  const name = codeName ? ` (${codeName})` : '';
  const text = code === 8000 ? `: ${errmsg}` : '';
  const reply = `the server reports error ${code ?? 'without a code'}${name}${text}`;
  return new MongoStoreError(finding, sentence ?? reply);
}

/**
 * Explains an error.
 *
 * @param topology What the driver knows: nothing until it has found the SRV record, if there is one.
 * @param client Tells which hosts the connection string names, or whether it names an SRV record.
 */
export function explain(
  error: unknown,
  topology: Topology | undefined,
  client: MongoClient,
): MongoStoreError {
  if (error instanceof MongoStoreError) return error;
  const explained = explainAlone(error);
  if (['unusable', 'credentials refused'].includes(explained.finding)) return explained;
  if (topology) return explainTopology(topology, client) ?? explained;
  const isSrv = client.options.srvHost !== undefined;
  return isSrv && explained.finding === 'no response' ? storeError('no SRV record') : explained;
}

function explainAlone(error: unknown): MongoStoreError {
  const causes = causesOf(error);
  const known = causes.find((it) => translationOf(rowOf(it)));
  const otherwise: Translation = isReply(error)
    ? ['unknown']
    : [causes.some(isTimeout) ? 'no response' : 'unreachable'];
  const [finding] = (known && translationOf(rowOf(known))) ?? otherwise;
  return new MongoStoreError(finding, messageOf(known ?? error));
}

/** Returns why no known server accepts writes; `undefined` if one does. */
function explainTopology(topology: Topology, client: MongoClient): MongoStoreError | undefined {
  const known = [...topology.servers.values()];
  if (known.some(({ isWritable }) => isWritable)) return undefined;
  return new MongoStoreError(findingOf(known), whyNotWritable(topology, client));
}

function findingOf(known: readonly ServerDescription[]): DatabaseFinding {
  if (known.some(({ type }) => type !== 'Unknown')) return 'not now';
  const isSilent = ({ error }: ServerDescription) => !error || isTimeout(error);
  return known.length > 0 && known.every(isSilent) ? 'no response' : 'unreachable';
}

const isTimeout = (error: Error) =>
  error instanceof NoResponseError || error instanceof MongoNetworkTimeoutError;

/** Returns the row of an error, or a name that no row has. */
function rowOf(error: Error): string {
  if (!(error instanceof MongoServerError)) return error.name;
  return `${isReply(error) ? 'reply' : 'login'} ${error.code}`;
}

function causesOf(error: unknown): Error[] {
  return error instanceof Error ? [error, ...causesOf(error.cause)] : [];
}

/** Returns the `code` of an error, from a server or from the system. */
export function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** Returns whether a server has replied to a command with this error. */
export function isReply(error: unknown): error is MongoServerError {
  return error instanceof MongoServerError && !isHandshake(error);
}
