/** Returns a deep copy of the value as JSON represents it; undefined if JSON cannot represent it. */
export function jsonCopy(value: unknown): unknown {
  try {
    const text = JSON.stringify(value) as string | undefined;
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}
