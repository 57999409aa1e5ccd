/** Parses JSON with comments and trailing commas, as editors write it. Throws a `SyntaxError` that names the line. */
export function parseCommentedJson(text: string): unknown {
  return JSON.parse(plainJson(text)) as unknown;
}

const TOKEN = /"(?:\\.|[^"\\])*"|\/\/[^\n]*|\/\*[\s\S]*?\*\/|,(?=(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*[}\]])/g;

/** Replaces comments and trailing commas by blanks, so that the lines in error messages stay right. */
function plainJson(text: string): string {
  return text
    .replace(/^\uFEFF/, '')
    .replaceAll(TOKEN, (token) => (token.startsWith('"') ? token : token.replaceAll(/[^\n]/g, ' ')));
}
