/** The value as JSON holds it, apart from the one it was made from; undefined when JSON cannot hold it. */
export function jsonCopy(value: unknown): unknown {
  try {
    const text = JSON.stringify(value) as string | undefined;
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}
