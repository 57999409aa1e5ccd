import type { Socket } from 'node:net';
import { eachOf, type Battery } from './battery.ts';
import type { Target } from './target.ts';

interface Shape {
  readonly text: string;
  /** What may come back; a closed connection always may. */
  readonly allowed: RegExp;
}

const REFUSED = /^HTTP\/1\.1 4\d\d /;
/** Refused, or understood in the one way that is safe. */
const ANY = /^HTTP\/1\.1 [1-4]\d\d /;
const SILENCE_MS = 3000;

function shapes({ port, credentials }: Target): Readonly<Record<string, Shape>> {
  const host = `Host: 127.0.0.1:${port}\r\n`;
  const key = `Authorization: ${credentials['agent']?.['authorization'] ?? ''}\r\n`;
  const json = 'Content-Type: application/json\r\n';
  const post = `POST /v1/runs HTTP/1.1\r\n${host}${key}${json}`;
  const get = `GET /v1/tools HTTP/1.1\r\n${host}${key}`;
  const refused = (text: string): Shape => ({ text, allowed: REFUSED });
  const any = (text: string): Shape => ({ text, allowed: ANY });
  return {
    'no Host': refused(`GET /v1/tools HTTP/1.1\r\n${key}\r\n`),
    'two Hosts': refused(`${get}${host}\r\n`),
    'two different Hosts': refused(`${get}Host: evil.example\r\n\r\n`),
    'a foreign Host': refused(`GET /v1/tools HTTP/1.1\r\nHost: evil.example\r\n${key}\r\n`),
    'a Host with a user': refused(`GET /v1/tools HTTP/1.1\r\nHost: a@127.0.0.1:${port}\r\n${key}\r\n`),
    'an empty Host': refused(`GET /v1/tools HTTP/1.1\r\nHost:\r\n${key}\r\n`),
    'an absolute target of another host': refused(
      `GET http://evil.example/v1/tools HTTP/1.1\r\nHost: evil.example\r\n${key}\r\n`,
    ),
    'length and chunked': refused(`${post}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`),
    'two lengths': refused(`${post}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x`),
    'a list of lengths': refused(`${post}Content-Length: 2, 2\r\n\r\n{}`),
    'a negative length': refused(`${post}Content-Length: -1\r\n\r\n`),
    'a length with a sign': refused(`${post}Content-Length: +2\r\n\r\n{}`),
    'a length in hexadecimal': refused(`${post}Content-Length: 0x2\r\n\r\n{}`),
    'a length of 30 digits': refused(`${post}Content-Length: ${'9'.repeat(30)}\r\n\r\n{}`),
    'chunked, misspelt': refused(`${post}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`),
    'chunked twice': refused(`${post}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`),
    'chunked after a tab': any(`${post}Transfer-Encoding:\tchunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`),
    'a chunk size that is no number': refused(
      `${post}Transfer-Encoding: chunked\r\n\r\nxyz\r\n{}\r\n0\r\n\r\n`,
    ),
    'a chunk size beyond 64 bits': refused(
      `${post}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n{}\r\n0\r\n\r\n`,
    ),
    'a chunk with a long extension': any(
      `${post}Transfer-Encoding: chunked\r\n\r\n2;${'x'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`,
    ),
    'a chunk that ends early': any(`${post}Transfer-Encoding: chunked\r\n\r\n5\r\n{}\r\n0\r\n\r\n`),
    'trailers with a Host': any(
      `${post}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nHost: evil\r\n\r\n`,
    ),
    'a header that is folded': refused(`${get}X-A: b\r\n c\r\n\r\n`),
    'a space before the colon': refused(`${get}X-A : b\r\n\r\n`),
    'a header without a name': refused(`${get}: b\r\n\r\n`),
    'a header without a colon': refused(`${get}nothing\r\n\r\n`),
    'a NUL in a header': refused(`${get}X-A: a\0b\r\n\r\n`),
    'a NUL in the target': refused(`GET /v1/tools\0 HTTP/1.1\r\n${host}\r\n`),
    'a control character in a name': refused(`${get}X-\u0001: b\r\n\r\n`),
    'bare line feeds': any(`${get}X-A: b\n\n`),
    'a lone carriage return': refused(`${get}X-A: a\rX-B: b\r\n\r\n`),
    'thirty kilobytes of headers': refused(`${get}X-A: ${'a'.repeat(30_000)}\r\n\r\n`),
    'three thousand headers': refused(`${get}${'X-A: b\r\n'.repeat(3000)}\r\n`),
    'a target of 100 kilobytes': refused(`GET /${'a'.repeat(100_000)} HTTP/1.1\r\n${host}\r\n`),
    'a method that is not known': refused(`BREW /v1/tools HTTP/1.1\r\n${host}${key}\r\n`),
    'a method in lower case': refused(`get /v1/tools HTTP/1.1\r\n${host}${key}\r\n`),
    TRACE: refused(`TRACE /v1/tools HTTP/1.1\r\n${host}${key}\r\n`),
    CONNECT: refused(`CONNECT 127.0.0.1:22 HTTP/1.1\r\n${host}\r\n`),
    'HTTP/0.9': refused('GET /v1/tools\r\n\r\n'),
    'HTTP/2 preface': refused('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    'HTTP/9.9': refused(`GET /v1/tools HTTP/9.9\r\n${host}\r\n`),
    'a TLS hello': refused('\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003'),
    Redis: refused('*1\r\n$4\r\nPING\r\n'),
    'an upgrade to h2c': any(
      `${get}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\n\r\n`,
    ),
    'an upgrade of a plain route': any(`${get}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`),
    'Expect: something': any(`${post}Expect: the-unexpected\r\nContent-Length: 2\r\n\r\n{}`),
    'a GET with a body': any(`${get}${json}Content-Length: 2\r\n\r\n{}`),
    'a GET with a smuggled request': any(
      `${get}${json}Content-Length: 40\r\n\r\nDELETE /v1/keys/x HTTP/1.1\r\nHost: a\r\n\r\n `,
    ),
    'a target with two slashes': refused(`GET //evil.example/v1/tools HTTP/1.1\r\n${host}${key}\r\n`),
    'a target with dots': any(`GET /v1/../v1/tools HTTP/1.1\r\n${host}${key}\r\n`),
    'a target with encoded dots': any(`GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\n${host}\r\n`),
    'a target with a back slash': any(`GET /..\\..\\etc\\passwd HTTP/1.1\r\n${host}\r\n`),
    'a target with bad encoding': refused(`GET /v1/tools/%zz HTTP/1.1\r\n${host}${key}\r\n`),
    'a target with overlong UTF-8': refused(`GET /v1/tools/%c0%ae HTTP/1.1\r\n${host}${key}\r\n`),
    'a fragment in the target': any(`GET /v1/tools#x HTTP/1.1\r\n${host}${key}\r\n`),
    'a query a thousand times': any(
      `GET /v1/tool_calls?${'limit=1&'.repeat(1000)} HTTP/1.1\r\n${host}${key}\r\n`,
    ),
    'a query with __proto__': any(`GET /v1/tool_calls?__proto__[x]=1 HTTP/1.1\r\n${host}${key}\r\n`),
    'a body of text': refused(
      `${post.replace(json, 'Content-Type: text/plain\r\n')}Content-Length: 2\r\n\r\n{}`,
    ),
    'a body that is compressed': refused(`${post}Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}`),
    // JSON is UTF-8 and has no charset parameter (RFC 8259), so that one is ignored.
    'a body that claims to be UTF-16': any(
      `${post.replace(json, 'Content-Type: application/json; charset=utf-16\r\n')}Content-Length: 2\r\n\r\n{}`,
    ),
  };
}

/** Requests that proxies and servers read in different ways. Refused or closed, and never half understood. */
export const httpShapes: Battery = async (target, tally) => {
  await eachOf(Object.entries(shapes(target)), 8, async ([what, { text, allowed }]) => {
    const response = await talk(await target.socket(), text);
    const status = /^HTTP\/1\.1 \d{3}/.exec(response)?.[0].slice(9) ?? (response === '' ? 'closed' : 'other');
    const held = response === '' || allowed.test(response);
    tally.record(status, held ? null : `${what}: ${response.slice(0, 120)}`);
  });
};

/** Everything that comes back until the peer closes or says nothing more. */
async function talk(socket: Socket, text: string): Promise<string> {
  return await new Promise((resolve) => {
    let response = '';
    const end = (): void => {
      socket.destroy();
      resolve(response);
    };
    socket.setTimeout(SILENCE_MS, end);
    socket.on('data', (chunk: Buffer) => {
      response += chunk.toString('latin1');
      // The head tells enough.
      if (response.includes('\r\n\r\n')) end();
    });
    socket.on('error', end);
    socket.on('close', end);
    socket.write(text, 'latin1');
  });
}
