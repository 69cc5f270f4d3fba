/** A process whose listener throws on the first message. Prints what it sees; used by bus.nats.test.ts. */
import { natsBus } from '../bus.ts';
import { connectNats } from '../connection.ts';

const [url, auth, namespace] = process.argv.slice(2) as [string, string, string];
process.on('uncaughtException', (error) => console.log(`uncaught: ${error.message}`));

const connection = await connectNats({ url, name: 'throwing listener', auth: JSON.parse(auth) });
const bus = natsBus(connection, { namespace });
const server = await bus.serve('c', () => undefined);
await bus.listen('c', (body) => {
  if (body === 'first') throw new Error('from the callback');
  console.log(`heard: ${body}`);
  void connection.close();
});
server.announce('first');
server.announce('second');
