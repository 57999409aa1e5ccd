export const SNIPPETS = ['javascript', 'python', 'frames'] as const;

export type Snippet = (typeof SNIPPETS)[number];

/** The commands that install what a program needs, and run it. */
export const RUN_COMMANDS: Readonly<Record<Snippet, readonly string[]>> = {
  javascript: ['npm install ../patchboard/packages/wire ../patchboard/packages/client', 'node my-device.mjs'],
  python: ['python3 -m pip install websockets', 'python3 my_device.py'],
  frames: [],
};

/**
 * The shortest program in each language that registers one tool on this server; it sends the key from its
 * environment if one is required.
 */
export function snippetFor(kind: Snippet, origin: string, needsKey: boolean): string {
  const socket = `${origin.replace(/^http/, 'ws')}/ws`;
  switch (kind) {
    case 'javascript':
      return `import { connectDevice, deviceTool } from '@patchboard/client';

connectDevice(${JSON.stringify(origin)}, {
  name: 'my-device',
${needsKey ? "  key: process.env['PATCHBOARD_KEY'] ?? '',\n" : ''}  tools: [
    deviceTool({
      name: 'greet',
      description: 'Says hello.',
      parameters: {
        type: 'object',
        properties: { name: { type: 'string' } },
      },
      run: ({ name }) => \`Hello, \${name ?? 'world'}!\`,
    }),
  ],
});
`;
    case 'python':
      return `import asyncio, json, ${needsKey ? 'os, ' : ''}websockets

async def main():
    async with websockets.connect(${pythonAddress(socket, needsKey)}) as ws:
        await ws.send(json.dumps({"type": "register_tools", "tools": [{
            "name": "greet", "description": "Says hello.",
            "parameters": {
                "type": "object",
                "properties": {"name": {"type": "string"}},
            },
        }]}))
        async for text in ws:
            frame = json.loads(text)
            if frame["type"] == "tool_call_request":
                output = f"Hello, {frame['args'].get('name', 'world')}!"
                await ws.send(json.dumps({"type": "tool_result", "id": frame["id"],
                                          "output": output, "success": True}))

asyncio.run(main())
`;
    case 'frames':
      return `→ ${socket}
${needsKey ? '→ Authorization: Bearer $PATCHBOARD_KEY\n' : ''}→ {"type":"register_tools","tools":[{"name":"greet","description":"Says hello.","parameters":{"type":"object"}}]}
← {"type":"tools_registered","count":1,"registered":1,"rejected":[]}
← {"type":"tool_call_request","id":"…","name":"greet","args":{}}
→ {"type":"tool_result","id":"…","output":"Hello!","success":true}
← {"type":"result_acknowledged","id":"…","accepted":true}
`;
  }
}

function pythonAddress(socket: string, needsKey: boolean): string {
  const headers = 'additional_headers={"Authorization": "Bearer " + os.environ["PATCHBOARD_KEY"]}';
  return needsKey ? `${JSON.stringify(socket)},\n        ${headers}` : JSON.stringify(socket);
}
