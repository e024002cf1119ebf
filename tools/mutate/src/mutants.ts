import { type AnyNode, type ExpressionStatement, type Literal, parse } from 'acorn';

/** One change of a source file. */
export interface Mutant {
  readonly start: number;
  readonly end: number;
  /** The text that replaces that from `start` to `end`. */
  readonly text: string;
}

const OPERATORS: ReadonlyMap<string, readonly string[]> = new Map([
  ['<', ['<=', '>=']],
  ['<=', ['<', '>']],
  ['>', ['>=', '<=']],
  ['>=', ['>', '<']],
  ['===', ['!==']],
  ['!==', ['===']],
  ['+', ['-']],
  ['-', ['+']],
  ['*', ['/']],
  ['/', ['*']],
  ['%', ['*']],
  ['**', ['*']],
  ['&&', ['||']],
  ['||', ['&&']],
  ['??', ['&&']],
  ['+=', ['-=']],
  ['-=', ['+=']],
  ['&&=', ['||=']],
  ['||=', ['&&=']],
  ['??=', ['&&=']],
  ['++', ['--']],
  ['--', ['++']],
]);

/** Returns all possible changes of a compiled source, in the order of the source. */
export function mutantsOf(source: string): Mutant[] {
  const program = parse(source, { ecmaVersion: 'latest', sourceType: 'module' });
  return mutantsIn(program, source).sort((a, b) => a.start - b.start);
}

function mutantsIn(node: AnyNode, source: string): Mutant[] {
  const own = mutantsAt(node, source).filter(({ start, end, text }) => {
    return source.slice(start, end) !== text;
  });
  return [...own, ...childrenOf(node).flatMap((child) => mutantsIn(child, source))];
}

/** Leaves out module specifiers, because every test notices a module that is not found. */
function childrenOf(node: AnyNode): AnyNode[] {
  if (node.type === 'ImportDeclaration' || node.type === 'ExportAllDeclaration') return [];
  if (node.type === 'ImportExpression') return [];
  if (node.type === 'ExportNamedDeclaration') return node.declaration ? [node.declaration] : [];
  return Object.values(node).flat().filter(isNode);
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

function mutantsAt(node: AnyNode, source: string): Mutant[] {
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression':
      return otherOperators(node.operator, node.left.end, node.right.start, source);
    case 'AssignmentExpression':
      return otherOperators(node.operator, node.left.end, node.right.start, source);
    case 'UpdateExpression':
      return otherOperators(node.operator, node.start, node.end, source);
    case 'UnaryExpression':
      return node.operator === '!' ? [replaced(node, textOf(node.argument, source))] : [];
    case 'IfStatement':
    case 'ConditionalExpression':
      return [replaced(node.test, 'true'), replaced(node.test, 'false')];
    case 'WhileStatement':
    case 'DoWhileStatement':
      return [replaced(node.test, 'false')];
    case 'ForStatement':
      return node.test ? [replaced(node.test, 'false')] : [];
    case 'ReturnStatement':
      return node.argument ? [replaced(node.argument, 'undefined')] : [];
    case 'ArrowFunctionExpression':
      return node.expression ? [replaced(node.body, 'undefined')] : [];
    case 'ExpressionStatement':
      return isCall(node) ? [replaced(node, ';')] : [];
    case 'TemplateLiteral':
      return [replaced(node, "''")];
    case 'Literal':
      return otherValues(node);
    default:
      return [];
  }
}

function replaced({ start, end }: AnyNode, text: string): Mutant {
  return { start, end, text };
}

function textOf({ start, end }: AnyNode, source: string): string {
  return source.slice(start, end);
}

/** `from` and `to` enclose the operator, and possibly comments, parentheses or an operand. */
function otherOperators(operator: string, from: number, to: number, source: string): Mutant[] {
  const start = source.indexOf(operator, from);
  if (start === -1 || start >= to) return [];
  const end = start + operator.length;
  return (OPERATORS.get(operator) ?? []).map((text) => ({ start, end, text }));
}

/** A call whose result is not used, with or without `await` or `void`. */
function isCall({ expression }: ExpressionStatement): boolean {
  if (expression.type === 'CallExpression') return expression.callee.type !== 'Super';
  if (expression.type === 'AwaitExpression') return true;
  return expression.type === 'UnaryExpression' && expression.operator === 'void';
}

function otherValues(node: Literal): Mutant[] {
  const { value } = node;
  if (typeof value === 'boolean') return [replaced(node, `${!value}`)];
  if (typeof value === 'number') return [replaced(node, `${value + 1}`)];
  if (typeof value === 'bigint') return [replaced(node, `${value + 1n}n`)];
  if (typeof value === 'string') return [replaced(node, value === '' ? "'changed'" : "''")];
  return [];
}
