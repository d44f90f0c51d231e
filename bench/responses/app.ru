# frozen_string_literal: true

# For Puma: /body/{string|array|chunked}/{n}k is n KiB as one string, as an array of strings of 1 KiB, or as an object that
# yields them one by one. The first two have a Content-Length.

PIECE = "#{'o' * 1023}\n"
BODIES = [1, 10, 100].to_h { |n| [n, { 'string' => [PIECE * n].freeze, 'array' => Array.new(n, PIECE).freeze }] }.freeze

Yielded = Struct.new(:count) do
  def each
    count.times { yield PIECE }
  end
end

run lambda { |env|
  _, _, kind, size = env['PATH_INFO'].split('/')
  n = size.to_i
  if kind == 'chunked'
    [200, { 'content-type' => 'text/plain' }, Yielded.new(n)]
  else
    [200, { 'content-type' => 'text/plain', 'content-length' => (n * 1024).to_s }, BODIES.fetch(n).fetch(kind)]
  end
}
