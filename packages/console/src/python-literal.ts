import { parseTree, type Node } from 'jsonc-parser';

const INDENT = '    ';
const WORDS: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' };

/** JSON text as a Python literal. Numbers are copied digit by digit; text that is not JSON becomes `{}`. */
export function pythonLiteral(json: string): string {
  const tree = parseTree(json);
  return tree === undefined ? '{}' : written(tree, json, '');
}

function written(node: Node, json: string, indent: string): string {
  const inner = indent + INDENT;
  const children = node.children ?? [];
  switch (node.type) {
    case 'object':
      return wrapped(
        '{',
        children.map((member) => memberOf(member, json, inner)),
        '}',
        indent,
      );
    case 'array':
      return wrapped(
        '[',
        children.map((item) => written(item, json, inner)),
        ']',
        indent,
      );
    case 'string':
      // Every escape that JSON writes is one of Python too.
      return JSON.stringify(node.value);
    default: {
      const source = json.slice(node.offset, node.offset + node.length);
      return WORDS[source] ?? source;
    }
  }
}

function memberOf({ children = [] }: Node, json: string, indent: string): string {
  const [name, value] = children;
  const text = value === undefined ? 'None' : written(value, json, indent);
  return `${JSON.stringify(name?.value ?? '')}: ${text}`;
}

function wrapped(open: string, items: readonly string[], close: string, indent: string): string {
  if (items.length === 0) return open + close;
  return `${open}\n${items.map((item) => `${indent}${INDENT}${item},\n`).join('')}${indent}${close}`;
}
