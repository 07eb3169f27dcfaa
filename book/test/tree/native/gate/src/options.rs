match key { "port" => 1 }
