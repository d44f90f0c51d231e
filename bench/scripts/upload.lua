-- wrk ... -s upload.lua URL -- FILE: a POST of the file, made once.
local request_text

function init(args)
  local file = assert(io.open(args[1], "rb"))
  wrk.method = "POST"
  wrk.body = file:read("*a")
  file:close()
  wrk.headers["Content-Type"] = "application/octet-stream"
  request_text = wrk.format()
end

function request()
  return request_text
end
