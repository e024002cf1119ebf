/** Words that no text uses, each with the word of the field. */
const REPLACED: readonly (readonly [RegExp, string])[] = [
  [/\banswer\w*/gi, 'response, responds'],
  [/\b(?:told|tells?|telling)\b/gi, 'reports, logs, distinguishes'],
  [/\bstands for\b/gi, 'means, represents'],
  [/\bbehind\b(?!\s+(?:an?|the|your)\s+(?:reverse\s+)?proxy)/gi, 'after, through'],
  [/\bfaulty\b/gi, 'invalid'],
  [/\b(?:nobody|somebody|anybody|whoever|whomever)\b/gi, 'no client, another user, anyone who'],
  [/\bmend\w*/gi, 'fix'],
  [/\brights\b/gi, 'permissions'],
  [/\bat\s+the\s+most\b/gi, 'at most'],
  [/\bfail-over/gi, 'failover'],
  [/\bprocessor\s+time\b/gi, 'CPU time'],
  [/\bfor\s+ever\b/gi, 'without a limit, permanently'],
];

/** Code, and the targets of links. */
const NOT_CHECKED = /`[^`]+`|\]\([^)]*\)/g;

/** The tokens of TypeScript that can contain text, and regular expressions, which can contain quotation marks. */
const TOKEN = new RegExp(
  [
    String.raw`\/\*[\s\S]*?\*\/`,
    String.raw`\/\/[^\n]*`,
    String.raw`'(?:\\.|[^'\\\n])*'`,
    String.raw`"(?:\\.|[^"\\\n])*"`,
    String.raw`\`(?:\\.|[^\`\\])*\``,
    String.raw`(?<=[(,=:[!&|?{};]\s*)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/`,
  ].join('|'),
  'g',
);

const COMMENT = /^\/[/*]/;

/** A string of more than one word. A single word may be a name or a value. */
const SENTENCE = /^['"`][\s\S]*\w \w/;

/** Returns every replaced word in a text, with its place and what to use instead. */
export function replacedWords(path: string, text: string): string[] {
  const checked = text.replace(NOT_CHECKED, blank);
  return REPLACED.flatMap(([pattern, instead]) =>
    [...checked.matchAll(pattern)].map(({ 0: word, index }) => {
      const line = checked.slice(0, index).split('\n').length;
      return `${path}:${line} "${word}": ${instead}`;
    }),
  );
}

/** Returns the comments and the sentences in strings of TypeScript or JavaScript; the lines keep their numbers. */
export function textsOf(source: string): string {
  let end = 0;
  let texts = '';
  for (const { 0: token, index } of source.matchAll(TOKEN)) {
    texts += blank(source.slice(end, index)) + textOf(token);
    end = index + token.length;
  }
  return texts;
}

function textOf(token: string): string {
  if (COMMENT.test(token)) return token.replace(/^ *\*/gm, blank);
  return SENTENCE.test(token) ? ` ${token.slice(1, -1)} ` : blank(token);
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, ' ');
}
