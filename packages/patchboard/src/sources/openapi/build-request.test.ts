import { describe, expect, it } from 'vitest';
import { ToolFailure } from '../../core/failures.ts';
import { buildRequest, NO_ADDITIONS, type Additions } from './build-request.ts';
import type { Operation, OperationBody, OperationParameter } from './operation.ts';

const SERVER = new URL('https://api.example/v1');

function parameter(given: Partial<OperationParameter> & Pick<OperationParameter, 'in'>): OperationParameter {
  const style = given.in === 'path' || given.in === 'header' ? 'simple' : 'form';
  return {
    name: 'color',
    argument: 'color',
    style,
    explode: (given.style ?? style) === 'form',
    allowReserved: false,
    ...given,
  };
}

function operation(given: Partial<Operation> = {}): Operation {
  return { method: 'GET', path: '/paint', parameters: [], body: null, security: [], ...given };
}

/** Returns the URL after the server. */
function urlWith(given: OperationParameter, value: unknown, path = '/paint'): string {
  const { url } = buildRequest(operation({ path, parameters: [given] }), { color: value }, SERVER);
  return url.slice(SERVER.href.length);
}

function post(body: Partial<OperationBody>, value: unknown): ReturnType<typeof buildRequest> {
  const whole = { argument: 'body', mediaType: 'application/json', required: true, ...body };
  return buildRequest(operation({ method: 'POST', body: whole }), { body: value }, SERVER);
}

function failureOf(run: () => unknown): ToolFailure['failure'] {
  try {
    run();
  } catch (error) {
    if (error instanceof ToolFailure) return error.failure;
    throw error;
  }
  throw new Error('expected a failure');
}

const ARRAY = ['blue', 'black', 'brown'];
const OBJECT = { R: 100, G: 200, B: 150 };

describe('path parameters', () => {
  // The table of styles in OpenAPI 3.1.1, section "Style Examples".
  it.each([
    ['simple', false, 'blue', 'blue'],
    ['simple', false, ARRAY, 'blue,black,brown'],
    ['simple', false, OBJECT, 'R,100,G,200,B,150'],
    ['simple', true, ARRAY, 'blue,black,brown'],
    ['simple', true, OBJECT, 'R=100,G=200,B=150'],
    ['label', false, 'blue', '.blue'],
    ['label', false, ARRAY, '.blue,black,brown'],
    ['label', false, OBJECT, '.R,100,G,200,B,150'],
    ['label', true, ARRAY, '.blue.black.brown'],
    ['label', true, OBJECT, '.R=100.G=200.B=150'],
    ['matrix', false, 'blue', ';color=blue'],
    ['matrix', false, ARRAY, ';color=blue,black,brown'],
    ['matrix', false, OBJECT, ';color=R,100,G,200,B,150'],
    ['matrix', true, ARRAY, ';color=blue;color=black;color=brown'],
    ['matrix', true, OBJECT, ';R=100;G=200;B=150'],
  ])('style %s, explode %s: %j', (style, explode, value, expected) => {
    expect(urlWith(parameter({ in: 'path', style, explode }), value, '/paint/{color}')).toBe(
      `/paint/${expected}`,
    );
  });

  it('writes numbers and booleans as JSON does, and content as JSON', () => {
    const path = parameter({ in: 'path' });
    expect(urlWith(path, 1.5, '/{color}')).toBe('/1.5');
    expect(urlWith(path, false, '/{color}')).toBe('/false');
    expect(urlWith({ ...path, mediaType: 'application/json' }, { a: 'é' }, '/{color}')).toBe(
      '/%7B%22a%22%3A%22%5Cu00e9%22%7D',
    );
  });

  it('encodes everything that could end the segment', () => {
    const path = parameter({ in: 'path' });
    expect(urlWith(path, 'a/b?c#d%2F;x', '/{color}/end')).toBe('/a%2Fb%3Fc%23d%252F%3Bx/end');
  });

  it.each(['.', '..', '../admin', 'a/./b', 'a\\..\\b', ['x', '..']])(
    'refuses %j, which leads elsewhere',
    (value) => {
      const why = failureOf(() => urlWith(parameter({ in: 'path' }), value, '/paint/{color}/x'));
      expect(why).toMatchObject({ code: 'input_invalid', outcome: 'not_started', retryable: false });
      expect(why.message).toBe('color must not be or contain the path segment "." or ".."');
    },
  );

  it.each([undefined, null, '', [], ['', '']])('refuses %j, which would be another path', (value) => {
    const why = failureOf(() => urlWith(parameter({ in: 'path' }), value, '/paint/{color}'));
    expect(why.message).toBe('color must not be empty, because it is part of the path');
  });

  it('refuses two values that make a dot segment together', () => {
    const half = (name: string): OperationParameter =>
      parameter({ in: 'path', name, argument: name, style: 'label' });
    const path = '/paint/{a}{b}';
    const parameters = [parameter({ in: 'path', name: 'a', argument: 'a' }), half('b')];
    const built = (args: unknown): string => buildRequest(operation({ path, parameters }), args, SERVER).url;
    expect(built({ a: 'x', b: 'y' })).toBe('https://api.example/v1/paint/x.y');
    expect(failureOf(() => built({ a: 'x', b: '.' })).code).toBe('input_invalid');
  });

  it('refuses a template that leaves the path of the server', () => {
    const why = failureOf(() => buildRequest(operation({ path: '/%2e%2e/admin' }), {}, SERVER));
    expect(why).toMatchObject({ code: 'tool_failed', outcome: 'not_started' });
    expect(why.message).toContain('/%2e%2e/admin');
    expect(failureOf(() => buildRequest(operation({ path: '/a/../../b' }), {}, SERVER)).code).toBe(
      'tool_failed',
    );
  });

  it('names a placeholder that has no parameter', () => {
    const why = failureOf(() => buildRequest(operation({ path: '/pets/{id}' }), {}, SERVER));
    expect(why.message).toBe('the description declares no parameter for {id} in /pets/{id}');
  });
});

describe('query parameters', () => {
  it.each([
    ['form', true, 'blue', '?color=blue'],
    ['form', true, '', '?color='],
    ['form', true, ARRAY, '?color=blue&color=black&color=brown'],
    ['form', true, OBJECT, '?R=100&G=200&B=150'],
    ['form', false, ARRAY, '?color=blue,black,brown'],
    ['form', false, OBJECT, '?color=R,100,G,200,B,150'],
    ['spaceDelimited', false, ARRAY, '?color=blue%20black%20brown'],
    ['spaceDelimited', false, OBJECT, '?color=R%20100%20G%20200%20B%20150'],
    ['pipeDelimited', false, ARRAY, '?color=blue%7Cblack%7Cbrown'],
    ['pipeDelimited', false, OBJECT, '?color=R%7C100%7CG%7C200%7CB%7C150'],
    ['deepObject', true, OBJECT, '?color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150'],
    ['deepObject', true, { a: { b: [1, 2] } }, '?color%5Ba%5D%5Bb%5D%5B0%5D=1&color%5Ba%5D%5Bb%5D%5B1%5D=2'],
    ['form', true, true, '?color=true'],
    ['form', true, null, ''],
    ['form', true, [], ''],
    ['form', true, ['a', null], '?color=a'],
    ['form', true, [{ a: 1 }], '?color=%7B%22a%22%3A1%7D'],
  ])('style %s, explode %s: %j', (style, explode, value, expected) => {
    expect(urlWith(parameter({ in: 'query', style, explode }), value)).toBe(`/paint${expected}`);
  });

  it('writes content as JSON', () => {
    const given = parameter({ in: 'query', mediaType: 'application/json' });
    expect(urlWith(given, { a: [1] })).toBe('/paint?color=%7B%22a%22%3A%5B1%5D%7D');
  });

  it('leaves reserved characters with allowReserved, except those that end the value or separate items', () => {
    const given = parameter({ in: 'query', allowReserved: true, explode: false });
    expect(urlWith(given, 'a/b:c?d=e')).toBe('/paint?color=a/b:c?d=e');
    expect(urlWith(given, 'a&b#c+d%20')).toBe('/paint?color=a%26b%23c%2Bd%2520');
    expect(urlWith(given, ['a,b', 'c/d'])).toBe('/paint?color=a%2Cb,c/d');
  });

  it('refuses an item that contains the delimiter of its style', () => {
    const why = failureOf(() => urlWith(parameter({ in: 'query', style: 'pipeDelimited' }), ['a|b']));
    expect(why.message).toBe(
      'color has an item that contains "|", which separates the items (style pipeDelimited)',
    );
  });

  it('refuses half of a surrogate pair', () => {
    expect(failureOf(() => urlWith(parameter({ in: 'query' }), '\ud800')).code).toBe('input_invalid');
  });

  it('does not read inherited members as arguments', () => {
    const given = parameter({ in: 'query', argument: 'constructor' });
    expect(urlWith(given, 'x')).toBe('/paint');
  });
});

describe('headers and cookies', () => {
  function headersWith(given: OperationParameter, value: unknown, additions?: Additions): unknown {
    return buildRequest(operation({ parameters: [given] }), { color: value }, SERVER, additions).headers;
  }

  it.each([
    [false, ARRAY, 'blue,black,brown'],
    [false, OBJECT, 'R,100,G,200,B,150'],
    [true, OBJECT, 'R=100,G=200,B=150'],
    [false, 'a b', 'a b'],
  ])('writes a header, explode %s: %j', (explode, value, expected) => {
    expect(headersWith(parameter({ in: 'header', explode }), value)).toEqual({ color: expected });
  });

  it.each(['a\r\nX-Evil: 1', 'a\nb', 'a\0b', 'é'])('refuses the header value %j', (value) => {
    const why = failureOf(() => headersWith(parameter({ in: 'header' }), value));
    expect(why).toMatchObject({ code: 'input_invalid', outcome: 'not_started' });
    expect(why.message).toBe('color is sent as a header: it must contain visible ASCII characters only');
  });

  it('ignores parameters that would replace headers of the request itself', () => {
    for (const name of ['Authorization', 'Accept', 'Content-Type', 'Host', 'Cookie'])
      expect(headersWith(parameter({ in: 'header', name }), 'x')).toEqual({});
  });

  it('writes cookies, encoded, and several for exploded values', () => {
    const cookie = parameter({ in: 'cookie' });
    expect(headersWith(cookie, 'a; b=c')).toEqual({ cookie: 'color=a%3B%20b%3Dc' });
    expect(headersWith({ ...cookie, explode: false }, ARRAY)).toEqual({ cookie: 'color=blue,black,brown' });
    expect(headersWith(cookie, OBJECT)).toEqual({ cookie: 'R=100; G=200; B=150' });
  });

  it('prefers what the operator configured to arguments', () => {
    const additions = { headers: { Color: 'op' }, query: { color: 'op' }, cookies: { color: 'op' } };
    expect(headersWith(parameter({ in: 'header' }), 'x', additions)).toEqual({
      color: 'op',
      cookie: 'color=op',
    });
    expect(headersWith(parameter({ in: 'cookie' }), { color: 'x' }, additions)).toMatchObject({
      cookie: 'color=op',
    });
    const exploded = operation({ parameters: [parameter({ in: 'query' })] });
    const { url } = buildRequest(exploded, { color: { color: 'x', b: 1 } }, SERVER, additions);
    expect(url).toBe('https://api.example/v1/paint?b=1&color=op');
  });

  it('refuses a configured header that would begin another', () => {
    const additions = { ...NO_ADDITIONS, headers: { 'x-team': 'a\r\nb: c' } };
    expect(failureOf(() => buildRequest(operation(), {}, SERVER, additions)).message).toContain('x-team');
  });
});

describe('the URL', () => {
  it.each([
    ['https://api.example', '/pets', 'https://api.example/pets'],
    ['https://api.example/', '/pets', 'https://api.example/pets'],
    ['https://api.example/v1/', '/pets', 'https://api.example/v1/pets'],
    ['https://api.example/v1?k=1', '/pets', 'https://api.example/v1/pets?k=1'],
    ['https://api.example', 'pets', 'https://api.example/pets'],
    ['https://api.example/v1', '/', 'https://api.example/v1/'],
    ['https://api.example/v1', '/?action=list#Second', 'https://api.example/v1/?action=list'],
    ['https://api.example', '/größe x', 'https://api.example/gr%C3%B6%C3%9Fe%20x'],
    ['https://api.example', '//other.example/x', 'https://api.example//other.example/x'],
  ])('of %s and %s is %s', (server, path, expected) => {
    expect(buildRequest(operation({ path }), {}, new URL(server)).url).toBe(expected);
  });
});

describe('bodies', () => {
  it.each(['application/json', 'application/merge-patch+json', 'application/json; charset=utf-8'])(
    '%s',
    (mediaType) => {
      const { headers, body } = post({ mediaType }, { a: null });
      expect(headers).toEqual({ 'content-type': mediaType });
      expect(body).toBe('{"a":null}');
    },
  );

  it('sends any type as JSON where the description allows any', () => {
    expect(post({ mediaType: '*/*' }, [1]).headers).toEqual({ 'content-type': 'application/json' });
  });

  it('application/x-www-form-urlencoded: lists repeat, objects are JSON, unless a style is given', () => {
    const mediaType = 'application/x-www-form-urlencoded';
    const value = { name: 'a b&c', tags: ['x', 'y'], nested: { k: 1 }, none: null };
    expect(post({ mediaType }, value).body).toBe('name=a%20b%26c&tags=x&tags=y&nested=%7B%22k%22%3A1%7D');
    const encoding = { nested: { style: 'deepObject', explode: true }, tags: { explode: false } };
    expect(post({ mediaType, encoding }, value).body).toBe('name=a%20b%26c&tags=x,y&nested%5Bk%5D=1');
  });

  it('multipart/form-data is read by a standard decoder', async () => {
    const encoding = { file: { binary: true, contentType: 'image/png' } };
    const bytes = Uint8Array.of(0, 255, 13, 10, 45, 45);
    const file = Buffer.from(bytes).toString('base64');
    const value = { 'na"me\r\n': 'a\r\nb', tags: ['x', 2], meta: { k: 1 }, file };
    const { headers, body } = post({ mediaType: 'multipart/form-data', encoding }, value);
    const form = await new Response(body, { headers }).formData();
    expect(form.get('na"me\r\n')).toBe('a\r\nb');
    expect(form.getAll('tags')).toEqual(['x', '2']);
    const [meta, sent] = [form.get('meta'), form.get('file') as File];
    expect(meta).toBe('{"k":1}');
    expect(sent.type).toBe('image/png');
    expect(new Uint8Array(await sent.arrayBuffer())).toEqual(bytes);
  });

  it('text and bytes', () => {
    expect(post({ mediaType: 'text/plain' }, 'hi').body).toBe('hi');
    expect(post({ mediaType: 'text/plain' }, 5).body).toBe('5');
    expect(post({ mediaType: 'application/xml' }, '<a/>').body).toBe('<a/>');
    const sent = post({ mediaType: 'application/octet-stream', binary: true }, 'AAH/');
    expect(sent.body).toEqual(Uint8Array.of(0, 1, 255));
  });

  it('refuses what cannot be sent', () => {
    expect(failureOf(() => post({ mediaType: 'application/xml' }, {})).message).toBe(
      'body must be a string: it is sent as application/xml',
    );
    expect(failureOf(() => post({ mediaType: 'multipart/form-data' }, 'x')).code).toBe('input_invalid');
    expect(failureOf(() => post({ binary: true }, 'not base64!')).message).toBe('body must be base64');
    expect(failureOf(() => post({}, undefined)).message).toBe('body is required');
    const get = operation({ body: { argument: 'body', mediaType: 'application/json', required: false } });
    expect(failureOf(() => buildRequest(get, { body: {} }, SERVER)).message).toBe(
      'a GET request cannot have a body',
    );
    expect(buildRequest(get, {}, SERVER).body).toBeNull();
  });
});
