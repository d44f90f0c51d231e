// Signatures as AWS's documentation computes them: the test suite of version 4 and the examples of S3.
import { check } from 'k6';
import { AWSConfig, Endpoint, S3Client, SignatureV4 } from 'https://jslib.k6.io/aws/0.14.0/aws.js';
import { SignatureV4 as Same } from 'https://jslib.k6.io/aws/0.11.0/signature.js';

export const options = { thresholds: { checks: ['rate==1'] } };

const suite = new SignatureV4({
  service: 'service',
  region: 'us-east-1',
  credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' },
  applyChecksum: false,
});
const then = { signingDate: new Date('2015-08-30T12:36:00Z') };
const s3 = new SignatureV4({
  service: 's3',
  region: 'us-east-1',
  credentials: { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' },
  uriEscapePath: false,
});
const day = { signingDate: new Date('2013-05-24T00:00:00Z') };
const bucket = { protocol: 'https', hostname: 'examplebucket.s3.amazonaws.com' };
const signature = (signed) => /Signature=([0-9a-f]*)$/.exec(signed.headers.authorization)[1];

function is(name, found, expected) {
  if (!check(found, { [name]: () => found === expected })) console.error(`${name}: found ${found}, expected ${expected}`);
}

function thrown(act) {
  try {
    act();
  } catch (error) {
    return error.message;
  }
  return 'nothing';
}

export default function () {
  const vanilla = suite.sign({ method: 'GET', hostname: 'example.amazonaws.com', path: '/', headers: {} }, then);
  is('get-vanilla', vanilla.headers.authorization, 'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, '
    + 'SignedHeaders=host;x-amz-date, Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31');
  is('its address', vanilla.url, 'https://example.amazonaws.com/');
  const query = suite.sign({ method: 'GET', endpoint: new Endpoint('https://example.amazonaws.com'), path: '/?Param2=value2&Param1=value1' }, then);
  is('get-vanilla-query-order-key-case', signature(query), 'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500');
  is('the address of a query', query.url, 'https://example.amazonaws.com/?Param1=value1&Param2=value2');

  const get = s3.sign({ method: 'GET', ...bucket, path: '/test.txt', headers: { Range: 'bytes=0-9' } }, day);
  is('S3, GET', signature(get), 'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41');
  is('S3, lifecycle', signature(s3.sign({ method: 'GET', ...bucket, path: '/', query: { lifecycle: '' } }, day)),
    'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543');
  is('S3, list', signature(s3.sign({ method: 'GET', ...bucket, path: '/', query: { 'max-keys': '2', prefix: 'J' } }, day)),
    '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7');
  const put = { method: 'PUT', ...bucket, path: '/test%24file.text', body: 'Welcome to Amazon S3.' };
  put.headers = { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' };
  is('S3, PUT', signature(s3.sign(put, day)), '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd');
  is('S3, presigned', s3.presign({ method: 'GET', ...bucket, path: '/test.txt' }, { ...day, expiresIn: 86400 }).url,
    'https://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3'
    + '%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404'
    + '&X-Amz-SignedHeaders=host');

  const config = new AWSConfig({ region: 'eu-west-1', accessKeyId: 'a', secretAccessKey: 'b', endpoint: 'http://localhost:4566' });
  is('an endpoint', config.endpoint.host, 'localhost:4566');
  is('no key', thrown(() => new AWSConfig({ region: 'eu-west-1' })), 'invalid AWS accessKeyId: found undefined, expected a text that is not empty');
  is('too long', thrown(() => s3.presign({ method: 'GET', ...bucket }, { expiresIn: 604801 })),
    'expiresIn: found 604801, expected seconds from 1 to 604800, which is seven days');
  is('a client', thrown(() => new S3Client(config)),
    "S3Client of k6's aws library is not offered: sign the request with SignatureV4 and send it with k6/http");
  is('of its own file', new Same({ ...suite }).sign({ method: 'GET', hostname: 'example.amazonaws.com' }, then).headers.authorization,
    vanilla.headers.authorization);
}
