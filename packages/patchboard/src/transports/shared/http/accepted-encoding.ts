/** Whether a client takes an encoding of the response. `gzip;q=0` in `Accept-Encoding` refuses it. */
export function acceptsEncoding(header: string | undefined, encoding: string): boolean {
  return (header ?? '')
    .toLowerCase()
    .split(',')
    .some((part) => {
      const [name = '', weight = ''] = part.split(';').map((text) => text.trim());
      return name === encoding && !/^q=0(?:\.0*)?$/.test(weight);
    });
}
