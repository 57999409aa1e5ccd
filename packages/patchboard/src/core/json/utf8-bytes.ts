export function utf8Bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** Leaves out the bytes of a character of UTF-8 that the end cuts. */
export function withoutHalfCharacter<Bytes extends Uint8Array>(bytes: Bytes): Bytes {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? (bytes.subarray(0, bytes.length - back) as Bytes) : bytes;
  }
  return bytes;
}
