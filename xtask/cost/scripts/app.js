export default {
  fetch() {
    return new Response('hello from script\n', { headers: { 'content-type': 'text/plain' } });
  },
};
